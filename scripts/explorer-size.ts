/** Prints what the explorer weighs on its way to a browser, packed as it is sent. */
import { gzipSync } from 'node:zlib'
import { explorerAssets } from '../src/http/explorer/assets.ts'

const { files, page } = await explorerAssets()
const groups = new Map<string, { files: number; bytes: number; gzipped: number }>()
const add = (group: string, bytes: number, gzipped: number) => {
  const sum = groups.get(group) ?? { files: 0, bytes: 0, gzipped: 0 }
  groups.set(group, { files: sum.files + 1, bytes: sum.bytes + bytes, gzipped: sum.gzipped + gzipped })
}

add('the page', Buffer.byteLength(page), gzipSync(page, { level: 9 }).length)
for (const [path, { body, gzipped }] of files) {
  const group = path.startsWith('lib/')
    ? path
        .split('/')
        .slice(0, path.startsWith('lib/@') ? 3 : 2)
        .join('/')
    : path.split('/')[0]!
  add(path.includes('/') ? group : 'main', body.length, gzipped.length)
}
let total = 0
for (const [group, { files: count, bytes, gzipped }] of groups) {
  total += gzipped
  console.log(`${group.padEnd(28)}${String(count).padStart(4)} files${kB(bytes)}${kB(gzipped)} gzip`)
}
console.log(`${'all'.padEnd(38)}${' '.repeat(10)}${kB(total)} gzip`)

function kB(bytes: number): string {
  return `${(bytes / 1000).toFixed(1).padStart(8)} kB`
}
