import MiniSearch from 'minisearch'
import { expect, test } from 'vitest'
import { SCOPES } from '#src/kernel/caller.ts'
import { toolsFor } from '../../src/http/mcp/tools.ts'

/** The names and texts of the list are enough to find the tool for a request in plain words, by a search for words alone. */

const caller = { wallet: '0x01' as never, scopes: SCOPES, via: 'http' } as const

const index = new MiniSearch({
  fields: ['id', 'description'],
  searchOptions: { boost: { id: 2 }, combineWith: 'OR' },
  // Names are words in one: `createWatch` is found by `watch`. A plural is found by its singular.
  tokenize: (text) => text.replaceAll(/([a-z])([A-Z])/g, '$1 $2').split(/[^\p{L}\p{N}$]+/u),
  processTerm: (word) => {
    const lower = word.toLowerCase().replace(/(?<=\w{3})e?s$/, '')
    return FILLERS.has(lower) ? null : lower
  },
})
/** Words of every request. */
const FILLERS = new Set(
  'a an the i my me of for to in is it on and or do doe what which how who this that with be by at from please want need can you ha have'.split(
    ' ',
  ),
)
index.addAll(toolsFor(caller, 'en').map(({ name, description }) => ({ id: name, description })))

test.each([
  ['what does the network say about this address 0x1234?', 'lookUpAddressOrName'],
  ['which data providers fail most rounds?', 'listDataProviders'],
  ['what is the price of BTC in US dollars now?', 'getFeedPrice'],
  ['how many alerts would the usual watch of a provider have sent?', 'getUsualAlerts'],
  ['create a watch for my wallet', 'createWatch'],
  ['try a watch on past data before creating it', 'backtestWatch'],
  ['list my alerts, the newest first', 'listAlerts'],
  ['acknowledge the alert so that the reminders end', 'acknowledge'],
  ['add a webhook or a Discord as a recipient', 'createRecipient'],
  ['send a test message to the recipient', 'testRecipient'],
  ['buy more slots from the credit balance', 'createSubscription'],
  ['turn off auto-renew of my subscription', 'updateSubscriptions'],
  ['what are my credit balance and my slots?', 'getAccount'],
  ['plan maintenance so that nobody is sent alerts', 'createMaintenance'],
  ['what are the prices, watch types and signals?', 'getPricing'],
  ['which arguments does a tool take, in full?', 'describeTool'],
])('“%s” is for %s', (request, expected) => {
  const found = index.search(request).map(({ id }) => id)
  expect(found[0], found.slice(0, 4).join(', ')).toBe(expected)
})
