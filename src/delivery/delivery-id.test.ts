import { expect, test } from 'vitest'
import { z } from 'zod'
import { lowestDeliveryId, newDeliveryId } from './delivery-id.ts'

const AT = new Date('2026-11-20T12:00:00.123Z')

test('an id is a UUID of version 7 that begins with the time in milliseconds', () => {
  const id = newDeliveryId(AT)
  expect(z.uuidv7().parse(id)).toBe(id)
  expect(Number.parseInt(id.replace('-', '').slice(0, 12), 16)).toBe(AT.getTime())
})

test('ids of one millisecond differ, and sort between the lowest ids of that millisecond and the next one', () => {
  const ids = Array.from({ length: 1000 }, () => newDeliveryId(AT))
  expect(new Set(ids).size).toBe(1000)
  const next = lowestDeliveryId(new Date(AT.getTime() + 1))
  for (const id of ids) {
    expect(id > lowestDeliveryId(AT)).toBe(true)
    expect(id < next).toBe(true)
  }
})
