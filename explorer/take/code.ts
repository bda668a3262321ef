/** The call that gives the raw points of what is seen. */
export interface Call {
  /** Address of the service, with a slash at its end. */
  readonly root: string
  readonly body: unknown
}

/** Names that are set in the environment hold the key; it never stands in what is copied. */
export function curlText({ root, body }: Call): string {
  const json = JSON.stringify(body, null, 2).replaceAll("'", "'\\''")
  return `curl -s '${root}historian/multi' \\
  -H "X-Api-Key: $TIDEMARK_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '${json}'
`
}

export function pythonText({ root, body }: Call): string {
  return `import json, os, urllib.request

body = json.loads(${pythonString(JSON.stringify(body))})
request = urllib.request.Request(
    ${pythonString(`${root}historian/multi`)},
    data=json.dumps(body).encode(),
    headers={"X-Api-Key": os.environ["TIDEMARK_KEY"], "Content-Type": "application/json"},
)
with urllib.request.urlopen(request) as response:
    answer = json.load(response)

for tag, result in answer["results"].items():
    print(tag, len(result["dataPoints"]), "points")
`
}

export function javascriptText({ root, body }: Call): string {
  return `const response = await fetch(${JSON.stringify(`${root}historian/multi`)}, {
  method: 'POST',
  headers: { 'X-Api-Key': process.env.TIDEMARK_KEY, 'Content-Type': 'application/json' },
  body: JSON.stringify(${JSON.stringify(body, null, 2).replaceAll('\n', '\n  ')}),
})
const { results } = await response.json()
for (const [tag, { dataPoints }] of Object.entries(results)) console.log(tag, dataPoints.length, 'points')
`
}

/** A Python literal with the same characters: JSON's escapes are Python's too. */
function pythonString(text: string): string {
  return JSON.stringify(text)
}
