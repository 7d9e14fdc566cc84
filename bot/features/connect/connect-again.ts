import { type ButtonData, packed, unpacked } from '#src/actions/codec.ts'

/**
 * Button data of the screen on which the right to spend was requested: the quote, the choice of the asset for the same
 * slots, or the subscriptions.
 *
 * @param goesOn button data of the chat's next step, if any
 */
export function originOfSpendRequest(goesOn: string | undefined): ButtonData {
  const press = goesOn === undefined ? undefined : unpacked(goesOn)
  switch (press?.verb) {
    case 'slots.quote':
      return packed('slots.quote', press.args)
    case 'topup.buy': {
      const { quantity, periods, renew } = press.args
      return packed('topup.slots', { quantity, periods, renew })
    }
    default:
      return packed('slots.list')
  }
}

/**
 * Button data for a new code with the same rights and the same continuation.
 * @param asked `goesOn`: button data of the chat's next step, if any
 */
export function connectAgainData(asked: {
  readonly spend: boolean
  readonly goesOn: string | undefined
}): ButtonData {
  const press = asked.goesOn === undefined ? undefined : unpacked(asked.goesOn)
  switch (press?.verb) {
    case 'slots.quote':
      return packed('slots.allow', press.args)
    // This step requests the right to spend again, as long as the chat lacks it.
    case 'topup.buy':
      return packed('topup.buy', press.args)
    case 'connect.watch':
      return packed('connect.watch', press.args)
    // Connects a chat without a wallet.
    case 'feed.watch':
      return packed('feed.watch', press.args)
    case 'rec.group':
      return packed('rec.group', press.args)
    case 'rec.card':
      return packed('rec.card', press.args)
    default:
      return packed('connect', { spend: asked.spend })
  }
}
