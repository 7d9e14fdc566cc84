/** Reads the command line of `npm run router`. Pure. */
import { type Address, getAddress, isAddress } from 'viem'

/** What is wrong, in words for the operator. */
export class RouterError extends Error {}

/** A command; `isYes`: whether it may send a transaction. */
export type RouterCommand =
  | { readonly name: 'status' }
  | {
      readonly name: 'deploy'
      readonly treasury: Address
      readonly owner: Address | undefined
      readonly isYes: boolean
    }
  | {
      readonly name: 'allow'
      readonly token: Address
      readonly on: boolean
      readonly isYes: boolean
    }
  | { readonly name: 'pause'; readonly on: boolean; readonly isYes: boolean }

/** @throws RouterError */
export function readCommand(args: readonly string[]): RouterCommand {
  const isYes = args.includes('--yes')
  const [name, ...rest] = args.filter((word) => word !== '--yes')
  const option = (key: string) => {
    const at = rest.indexOf(key)
    return at === -1 ? undefined : (rest[at + 1] ?? '')
  }
  switch (name) {
    case 'status':
      return { name }
    case 'deploy': {
      const treasury = option('--treasury')
      const owner = option('--owner')
      if (treasury === undefined)
        throw new RouterError('deploy needs --treasury: who receives every payment, for ever')
      return {
        ...{ name, isYes, treasury: address('--treasury', treasury) },
        owner: owner === undefined ? undefined : address('--owner', owner),
      }
    }
    case 'allow':
      return {
        name,
        isYes,
        token: address('the token', rest[0] ?? ''),
        on: switched(rest[1] ?? 'on'),
      }
    case 'pause':
      return { name, isYes, on: switched(rest[0] ?? '') }
    default:
      throw new RouterError(`there is no command “${name}”`)
  }
}

function switched(word: string): boolean {
  if (word !== 'on' && word !== 'off') throw new RouterError(`“${word}” is neither on nor off`)
  return word === 'on'
}

/** An address. A wrong checksum is a typing error, and money would be lost. @throws RouterError */
export function address(what: string, text: string): Address {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text) || /^0x0{40}$/.test(text)) {
    throw new RouterError(`${what} must be an address: “${text}”`)
  }
  const isPlain = text.slice(2) === text.slice(2).toLowerCase()
  if (!isPlain && !isAddress(text, { strict: true })) {
    throw new RouterError(`${what} has a wrong checksum: ${text}`)
  }
  return getAddress(text)
}
