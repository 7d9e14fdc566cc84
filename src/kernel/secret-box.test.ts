import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createSecretBox } from './secret-box.ts'

const box = createSecretBox(Buffer.alloc(32, 1))
const other = createSecretBox(Buffer.alloc(32, 2))

describe('sealing', () => {
  test('opens its own sealed texts', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(box.open('use', box.seal('use', text))).toBe(text)
      }),
    )
  })

  test('never seals the same text to the same letters', () => {
    expect(box.seal('use', 'text')).not.toBe(box.seal('use', 'text'))
  })

  test('opens for no other key or purpose', () => {
    const sealed = box.seal('use', 'text')
    expect(() => other.open('use', sealed)).toThrow()
    expect(() => box.open('another use', sealed)).toThrow()
  })

  test('notices any changed byte', () => {
    const sealed = Buffer.from(box.seal('use', 'some text'), 'base64url')
    for (let index = 0; index < sealed.length; index++) {
      const changed = Buffer.from(sealed)
      changed[index] = (changed[index] ?? 0) ^ 1
      expect(() => box.open('use', changed.toString('base64url'))).toThrow()
    }
  })
})

describe('signed links', () => {
  test('return the signed payload', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (payload) => {
        expect(box.readLink('use', box.signLink('use', payload))).toBe(payload)
      }),
    )
  })

  test('are good for one key and purpose only', () => {
    const code = box.signLink('use', '42')
    expect(other.readLink('use', code)).toBeUndefined()
    expect(box.readLink('another use', code)).toBeUndefined()
  })

  test('are refused when anything was changed or made up', () => {
    const code = Buffer.from(box.signLink('use', '42'), 'base64url')
    for (let index = 0; index < code.length; index++) {
      const changed = Buffer.from(code)
      changed[index] = (changed[index] ?? 0) ^ 1
      expect(box.readLink('use', changed.toString('base64url'))).toBeUndefined()
    }
    fc.assert(
      fc.property(fc.string(), (made) => {
        expect(box.readLink('use', made)).toBeUndefined()
      }),
    )
  })
})
