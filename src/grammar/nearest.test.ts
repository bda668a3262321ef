import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nearestName } from './nearest.ts'

const NAMES = ['ADD', 'SUB', 'MUL', 'DIV', 'TOTALISE', 'TOTALISE2', 'AVG', 'SQRT', 'STEPPED']

function nearest(mistyped: string, expected: string) {
  test(`${mistyped.slice(0, 20)} is nearest to ${expected}`, () =>
    assert.equal(nearestName(mistyped, NAMES), expected))
}

nearest('ADDD', 'ADD')
nearest('DAD', 'ADD')
nearest('TOTALIZE', 'TOTALISE')
nearest('totaliser', 'TOTALISE')
nearest('Totalize2', 'TOTALISE2')
nearest('MULT', 'MUL')
nearest('STEPED', 'STEPPED')
nearest('SQR', 'SQRT')
nearest('VAG', 'AVG')
nearest('TOTALISE', 'TOTALISE')
nearest(`TOTALISE${'E'.repeat(100_000)}`, 'TOTALISE')

test('there is no nearest name among none', () => assert.equal(nearestName('ADD', []), null))
