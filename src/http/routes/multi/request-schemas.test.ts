import assert from 'node:assert/strict'
import test from 'node:test'
import { REQUEST_TYPES } from '../../../multi/requests/table.ts'
import { openApiDocument } from '../../openapi/document.ts'
import { ROUTES } from '../index.ts'

// biome-ignore lint/suspicious/noExplicitAny: the document is looked into freely
const schemas: any = (openApiDocument(ROUTES, '0', '') as any).components.schemas
const described = Object.keys(
  schemas.MultiRequest.properties.requests.additionalProperties.discriminator.mapping,
)

function schemaOf(type: string) {
  const { mapping } = schemas.MultiRequest.properties.requests.additionalProperties.discriminator
  return schemas[mapping[type].split('/').at(-1)]
}

test('the document describes exactly the request types that there are', () => {
  assert.deepEqual(described, [...REQUEST_TYPES.keys()])
  for (const type of described) assert.equal(schemaOf(type).properties.type.const, type)
})

for (const { name, details } of REQUEST_TYPES.values()) {
  test(`each detail of ${name} is in the document, and no other`, () => {
    const { properties, required = [] } = schemaOf(name).properties.details
    assert.deepEqual(
      Object.keys(properties),
      details.map((detail) => detail.name),
    )
    const needed = details.filter(({ isNeeded, unless }) => isNeeded && unless.length === 0)
    assert.deepEqual(
      required,
      needed.map((detail) => detail.name),
    )
    for (const detail of details) {
      const { description, type, $ref } = properties[detail.name]
      assert.ok(description.includes(detail.meaning), `${detail.name} has its meaning`)
      if (typeof detail.otherwise === 'number' || typeof detail.otherwise === 'string')
        assert.ok(
          description.endsWith(`\`${detail.otherwise}\` when left out.`),
          `${detail.name} has its default`,
        )
      const takesNull =
        $ref === undefined ? [type].flat().includes('null') : $ref.endsWith('OptionalTimestamp')
      assert.equal(takesNull, !needed.includes(detail), `${detail.name} takes null where it may be left out`)
    }
  })
}

test('details may be left out where none is needed, and only there', () => {
  const free = described.filter((type) => !schemaOf(type).required.includes('details'))
  assert.deepEqual(free, ['CURRENT_POINT'])
})
