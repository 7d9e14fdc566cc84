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

  test('seals one text to different ciphertexts', () => {
    expect(box.seal('use', 'text')).not.toBe(box.seal('use', 'text'))
  })

  test('opens no text of another key or purpose', () => {
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

  test('are valid for one key and purpose only', () => {
    const code = box.signLink('use', '42')
    expect(other.readLink('use', code)).toBeUndefined()
    expect(box.readLink('another use', code)).toBeUndefined()
  })

  test('are refused if they are changed or invented', () => {
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

describe('a rotation of the key', () => {
  const rotated = createSecretBox(Buffer.alloc(32, 2), Buffer.alloc(32, 1))

  test('opens texts of both keys, and seals with the current one', () => {
    expect(rotated.open('use', box.seal('use', 'old'))).toBe('old')
    expect(rotated.open('use', other.seal('use', 'new'))).toBe('new')
    expect(other.open('use', rotated.seal('use', 'text'))).toBe('text')
    expect([rotated.isRotating, box.isRotating]).toEqual([true, false])
  })

  test('reseals texts of the previous key only', () => {
    expect(other.open('use', rotated.reseal('use', box.seal('use', 'text')) ?? '')).toBe('text')
    expect(rotated.reseal('use', other.seal('use', 'text'))).toBeUndefined()
    expect(() =>
      rotated.reseal('use', createSecretBox(Buffer.alloc(32, 3)).seal('use', 'a')),
    ).toThrow()
    expect(() => rotated.reseal('another use', box.seal('use', 'text'))).toThrow()
  })

  test('reads links of both keys, and signs with the current one', () => {
    expect(rotated.readLink('use', box.signLink('use', 'old'))).toBe('old')
    expect(rotated.readLink('use', other.signLink('use', 'new'))).toBe('new')
    expect(other.readLink('use', rotated.signLink('use', 'new'))).toBe('new')
    const unknown = createSecretBox(Buffer.alloc(32, 3)).signLink('use', 'forged')
    expect(rotated.readLink('use', unknown)).toBeUndefined()
  })
})
