import { expect, test } from 'vitest'
import { closeName } from './similar.ts'

const NAMES = ['id', 'label', 'minSeverity', 'recipientIds', 'fsp.ftso-commit', 'fsp.ftso-reveal']

test.each([
  ['lable', 'label'],
  ['Label', 'label'],
  ['min_severity', 'minSeverity'],
  ['severity', 'minSeverity'],
  ['recipientId', 'recipientIds'],
  ['ids', 'id'],
  ['ftso-commit', 'fsp.ftso-commit'],
  ['fsp.ftso-comit', 'fsp.ftso-commit'],
  ['weather', undefined],
  ['ab', undefined],
  ['', undefined],
  ['-', undefined],
  ['label'.repeat(100), undefined],
])('%s is probably %s', (text, name) => {
  expect(closeName(NAMES, text)).toBe(name)
})
