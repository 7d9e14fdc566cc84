import { expect, test } from 'vitest'
import { LOCALES, type Locale } from '#src/kernel/locale.ts'
import rules from './banned-words.json' with { type: 'json' }
import { faultsOfWords } from './banned-words.ts'

test.each<readonly [Locale, string, string]>([
  ['en', 'The quote is over.', 'has expired'],
  ['en', 'Over since {{since}}.', 'Since'],
  ['en', 'It can now: {{rights}}.', 'Permissions'],
  ['en', 'Untick the box.', 'clear the box'],
  ['en', 'An offence', 'offense'],
  ['en', 'Nothing is sent any more.', 'anymore'],
  ['en', 'Alerts are sent at once.', 'immediately'],
  ['en', 'No watch is checked yet.', 'selected'],
  ['en', 'so many blocks', 'this many'],
  ['de', 'Vorbei seit {{since}}', 'Behoben seit'],
  ['de', 'Erstelle zuerst eine Überwachung.', 'Sie'],
  ['fr', 'Terminé depuis {{since}}', 'Problème'],
  ['fr', 'Elles figurent dans les champs.', 'alerte'],
  ['bn', 'অটো-নবায়ন', 'স্বয়ংক্রিয়'],
  ['bn', 'কন্ট্র্যাক্ট', 'কন্ট্রাক্ট'],
  ['hi', 'समय-विंडो', 'अवधि'],
  ['zh', '自 {{since}} 起，此前中断', '恢复时间'],
  ['ar', 'معاملة منتظرة', 'معلّقة'],
  ['en', 'Nobody is told.', 'gets alerts'],
  ['en', 'All fine', 'OK'],
  ['de', 'Preis-Einspeisung fehlt', 'Preisfeed'],
  ['de', 'Die Wiederherstellung', 'Entwarnung'],
  ['fr', 'Effacer l’alerte', 'supprimer'],
  ['fr', 'Vérifiez que le client tourne.', 'logiciel client'],
  ['bn', 'মনিটর সফলভাবে তৈরি হয়েছে', 'leave it out'],
  ['bn', '{{ms}} ms পরে', 'মিলিসেকেন্ড'],
  ['zh', '请向频道发送', '通知渠道'],
  ['hi', 'पिछला सबूत', 'डेटा'],
  ['hi', 'सामान्य वॉच', 'मॉनिटर'],
  ['bn', 'সব ওয়াচের জন্য', 'মনিটর'],
  ['ar', 'قم بحذف المراقبة', 'المصدر'],
  ['ar', '\u2068API\u2069: تم بنجاح', 'leave it out'],
])('a banned word is found in %s: “%s”', (locale, text, instead) => {
  expect(faultsOfWords(locale, 'bot:a', text).join()).toContain(instead)
})

test.each<readonly [Locale, string, string]>([
  ['en', 'bot:a', 'Quiet hours are on. <code>told</code>'],
  ['en', 'bot:a', 'Finalized'],
  ['de', 'signals:feed-move.price-move.help.why', 'Kredite und Orders'],
  ['fr', 'bot:a', 'Vérifiez que le logiciel client tourne. Phrase de récupération. Boîte mail'],
  ['bn', 'bot:a', 'সার্ভারের ঘড়ি, {{terms}}'],
  ['zh', 'bot:rec.ask.discord', '频道设置'],
  ['hi', 'bot:a', 'उद्धरण चिह्न'],
  ['ar', 'bot:a', 'يُرجى إرسال رقم بمنزلة واحدة'],
])('an ordinary word is let stand in %s: %s “%s”', (locale, key, text) => {
  expect(faultsOfWords(locale, key, text)).toEqual([])
})

test('every locale has its words', () => {
  expect(Object.keys(rules).sort()).toEqual([...LOCALES].sort())
})
