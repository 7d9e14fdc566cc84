/** Who may press the buttons of the bot, whatever feature handles them. */
import { expect, test } from 'vitest'
import { rightsTo } from '#bot/core/verb-rights.ts'
import { REGISTRY } from '#bot/features/index.ts'
import { type Press, unpacked, VERB_NAMES } from '#src/actions/codec.ts'

const verbs = REGISTRY.length === 0 ? [] : VERB_NAMES

/** A press of a verb, with the arguments of a watch where it has any. */
function pressOf(verb: Press['verb']): Press {
  return unpacked(`1:${verb}:1`) ?? ({ verb, args: { id: 1 } } as Press)
}

test('refuses money, recipients, settings and new watches in groups', () => {
  const isPrivate =
    /^(?:topup|slots|trial|terms|new|connect|feed|follow|free|wizard|rec|settings|maintenance|stop\.data|alert\.csv|watch\.(?:who|esc))/
  // A group may be switched on again, and may ask for the alerts that it missed itself.
  const open = ['rec.revive', 'rec.kept', 'rec.keptDrop', 'settings.lang', 'settings.langSet']
  const expected = verbs.filter((verb) => isPrivate.test(verb) && !open.includes(verb))
  const refused = verbs.filter((verb) => rightsTo(verb)?.privately(pressOf(verb)) !== undefined)
  expect(refused).toEqual(expected)
})

test('names the watch to open in the private chat for the recipients of a watch in a group', () => {
  const press = unpacked('1:watch.who:a:1')
  expect(press && rightsTo(press.verb)?.privately(press)).toBe('w10')
})

test('lets chats without a link only connect, look up addresses, follow a provider, open a recipient or set up a group after connecting, read the example and the help, choose a language and delete their data', () => {
  expect(verbs.filter((verb) => rightsTo(verb)?.unlinked === true)).toEqual([
    'home',
    'none',
    'close',
    'demo',
    'connect',
    'connect.watch',
    'feed.watch',
    'look.up',
    'follow.on',
    'follow.off',
    'link.yes',
    'link.no',
    'test.press',
    'test.try',
    'test.open',
    'rec.card',
    'rec.group',
    'settings.lang',
    'settings.langSet',
    'help',
    'stop',
    'stop.data',
    'stop.dataYes',
  ])
})

test('lets members of a group only read, and every administrator link it and choose its language', () => {
  const of = (members: string) => verbs.filter((verb) => rightsTo(verb)?.members === members)
  expect(of('all')).toEqual(['none', 'test.press', 'test.try', 'test.open', 'alert.open'])
  expect(of('administrators')).toEqual(['link.yes', 'link.no', 'settings.lang', 'settings.langSet'])
})

test('has a handler for every verb', () => {
  expect(verbs.filter((verb) => rightsTo(verb) === undefined)).toEqual([])
})
