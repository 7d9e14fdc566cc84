import { expect, test } from 'vitest'
import type { Locale } from '#src/kernel/locale.ts'
import { examplesIn, faultsOfExamples } from './examples.ts'

test.each<readonly [Locale, string, readonly string[]]>([
  ['en', 'Send a number, such as 250 or 1,250.5, or choose:', ['250', '1,250.5']],
  [
    'en',
    'Send a city, such as Dhaka, or a name such as Europe/Berlin.',
    ['Dhaka', 'Europe/Berlin'],
  ],
  ['de', 'Senden Sie eine Dauer, zum Beispiel 90m oder 1 Tag.', ['90m', '1 Tag']],
  ['de', 'Senden Sie eine Stadt, wie Berlin oder „Köln“.', ['Berlin', 'Köln']],
  ['de', 'Senden Sie eine Adresse wie ann@example.org.', ['ann@example.org']],
  ['de', 'Wie soll die Überwachung heißen?', []],
  ['de', 'Senden Sie, wie lange sie gilt, so wie Sie es gewohnt sind.', []],
  ['fr', 'Elle commence par 0x, par exemple <code>0x12</code>', ['0x12']],
  ['bn', 'একটি সময় পাঠান (যেমন 22:30), অথবা বেছে নিন:', ['22:30']],
  ['zh', '请发送时长，例如 90m、2h 或 1 天，或选择：', ['90m', '2h', '1 天']],
  ['hi', 'अवधि भेजें (जैसे 90m, 2h या 1 दिन; कम से कम {{min}}).', ['90m', '2h', '1 दिन']],
  ['ar', 'يُرجى إرسال مدة، مثل 90 دقيقة أو 3 ساعات.', ['90 دقيقة', '3 ساعات']],
])('examples are found in %s: %s', (locale, text, examples) => {
  expect(examplesIn(text, locale)).toEqual(examples)
})

test.each<readonly [Locale, string, string, string]>([
  ['en', 'bot:edit.sendDuration', 'Send a length of time, such as 90x.', '“90x” is refused'],
  ['de', 'bot:edit.sendWhole', 'Senden Sie zum Beispiel 2,5.', '“2,5” is refused'],
  ['fr', 'bot:ask.from', 'Envoyez une heure, par exemple 25:30', '“25:30” is refused'],
  ['bn', 'bot:zone.send', 'একটি শহর পাঠান (যেমন আটলান্টিস)।', '“আটলান্টিস” is refused'],
  ['zh', 'bot:new.ask.address', '例如 <code>0x12</code>', '“0x12” is refused'],
  ['hi', 'bot:zone.send', 'किसी शहर का नाम भेजें।', 'has no example'],
  [
    'ar',
    'errors:field.timezone',
    'مثل \u2068Europe/Atlantis\u2069.',
    '“Europe/Atlantis” is refused',
  ],
])('an example that is refused is found in %s: %s', (locale, key, text, fault) => {
  expect(faultsOfExamples(locale, key, text, text).join()).toContain(fault)
})

test('an example without a parser is found', () => {
  const text = 'Send a colour, such as red.'
  expect(faultsOfExamples('en', 'bot:ask.colour', text, text).join()).toContain('no parser')
  expect(faultsOfExamples('en', 'signals:ask.colour', text, text)).toEqual([])
})

test('a city in the reader’s own script is accepted as an example', () => {
  const text = 'একটি শহরের নাম পাঠান (যেমন ঢাকা), অথবা বেছে নিন:'
  expect(faultsOfExamples('bn', 'bot:zone.send', text, 'Send a city, such as Dhaka.')).toEqual([])
})
