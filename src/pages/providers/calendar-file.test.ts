import ICAL from 'ical.js'
import { expect, test } from 'vitest'
import { type CalendarEvent, writeCalendar } from './calendar-file.ts'

const EVENT: CalendarEvent = {
  uid: 'epoch-453-0xabc@watchdog.example',
  summary: 'Reward epoch 453',
  description: 'It is in force.',
  from: new Date('2026-11-23T07:00:00Z'),
  to: new Date('2026-11-26T19:00:00Z'),
  isConfirmed: true,
  sequence: 2,
  revisedAt: new Date('2026-11-23T05:40:12Z'),
}

const write = (...events: readonly Partial<CalendarEvent>[]) =>
  writeCalendar({
    name: 'Alpha Oracle',
    description: 'Dates',
    url: 'https://watchdog.example/providers/0xabc',
    source: 'https://watchdog.example/providers/0xabc/calendar.ics',
    language: 'en',
    events: events.map((event) => ({ ...EVENT, ...event })),
  })

const parse = (text: string) => {
  const calendar = new ICAL.Component(ICAL.parse(text))
  return calendar.getAllSubcomponents('vevent').map((event) => new ICAL.Event(event))
}

test('a parser reads the times, the sequence and the state of an event', () => {
  const [event] = parse(write({}))
  expect(event?.startDate.toJSDate()).toEqual(EVENT.from)
  expect(event?.endDate.toJSDate()).toEqual(EVENT.to)
  expect([event?.uid, event?.sequence]).toEqual([EVENT.uid, 2])
  expect(event?.component.getFirstPropertyValue('dtstamp')?.toString()).toBe('2026-11-23T05:40:12Z')
  expect(event?.component.getFirstPropertyValue('status')).toBe('CONFIRMED')
})

test('an instant has no end', () => {
  const text = write({ to: EVENT.from })
  expect(text).not.toContain('DTEND')
  expect(parse(text)[0]?.startDate.toJSDate()).toEqual(EVENT.from)
})

test('any text comes back as it was, whatever signs it has, and adds no line of its own', () => {
  const odd = [
    'a;b,c\\d\\n',
    'line one\nline two\r\nline three',
    'END:VEVENT\r\nBEGIN:VALARM',
    '"quoted": colon',
    'مزود البيانات '.repeat(20),
    '👩‍👩‍👧‍👦'.repeat(30),
    '数据提供者'.repeat(40),
    'x'.repeat(74),
    'x'.repeat(300),
  ]
  for (const summary of odd) {
    const events = parse(write({ summary, description: summary }, {}))
    expect(events).toHaveLength(2)
    const shown = summary.replaceAll(/\r\n?/g, '\n')
    expect(events[0]?.summary).toBe(shown)
    expect(events[0]?.description).toBe(shown)
    expect(events[0]?.component.getAllSubcomponents('valarm')).toEqual([])
  }
  expect(parse(write({ summary: 'a\u0000\u0007\ud800b' }))[0]?.summary).toBe('a\ufffdb')
})

test('no line is longer than 75 bytes, each ends in CRLF, and no character is cut', () => {
  const text = write({ summary: '数据🐕مزود'.repeat(50) })
  const lines = text.split('\r\n')
  expect(lines.pop()).toBe('')
  for (const line of lines) {
    expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75)
    expect(line).not.toMatch(/[\r\n]/)
    expect(line.isWellFormed()).toBe(true)
  }
})
