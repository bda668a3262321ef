import { createServer } from 'node:http'

/**
 * What a service cannot be faster than by much: keeps the first JSON that is posted as an object, and answers each
 * later request with JSON.stringify of it. Prints its port.
 */
let kept: unknown
const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    kept ??= JSON.parse(Buffer.concat(chunks).toString())
    const body = Buffer.from(JSON.stringify(kept))
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
    response.end(body)
  })
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object') process.stdout.write(`${address?.port}\n`)
})
