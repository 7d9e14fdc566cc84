import { readFileSync, writeFileSync } from 'node:fs'
import { unnamedList } from '../support/unnamed-statements.ts'

/** Writes the list of statements that name no wallet into docs/scale.md. */
const BEGIN = '<!-- npm run scale:list -->\n'
const END = '\n<!-- end of the list -->'
const path = new URL('../../docs/scale.md', import.meta.url)
const text = readFileSync(path, 'utf8')
const [before, rest = ''] = text.split(BEGIN)
const [, after] = rest.split(END)
if (after === undefined) throw new Error('docs/scale.md has no place for the list')
writeFileSync(path, `${before}${BEGIN}\n${unnamedList()}${END}${after}`)
