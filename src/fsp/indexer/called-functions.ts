import type { ProtocolBlock } from '../reader/round-blocks.ts'

/** Revert reasons of races between providers, which every provider loses daily. */
const BENIGN = [
  /already relayed/i,
  /AlreadyRelayed/,
  /0xd0ebeb4b/,
  /already signed/i,
  /already ended/i,
  /already registered/i,
  /registration not enabled/i,
  /already pre-registered/i,
  /currently not registered/i,
  /not opened anymore/i,
  /no longer accepted/i,
  /already provided/i,
] as const

/** Contracts whose failed calls count as lost races if the calls cannot be replayed. */
const RACING: readonly string[] = ['Relay', 'FlareSystemsManager']

/** Whether a failed call was a lost race, or is no evidence against the provider. */
export function isBenignFailure({
  ok,
  reason,
  contract,
  replay,
}: ProtocolBlock['calls'][number]): boolean {
  if (ok) return false
  // If endpoints contradict each other, the call proves nothing.
  if (replay === 'contradicted') return true
  if (reason === null) return replay !== 'failed' && RACING.includes(contract)
  return BENIGN.some((pattern) => pattern.test(reason))
}

const FUNCTIONS: Readonly<Record<string, string>> = {
  '0x6c532fae': 'submit1',
  '0x9d00c9fd': 'submit2',
  '0xe1b157e7': 'submit3',
  '0x57eed580': 'submitSignatures',
  '0x833bf6c0': 'submitAndPass',
  '0xb59589d1': 'relay',
  '0x6b4c7bd6': 'signNewSigningPolicy',
  '0xdc5a4225': 'signUptimeVote',
  '0x9dd6850f': 'submitUptimeVote',
  '0xc00a1a97': 'signRewards',
  '0x8f7d0957': 'registerVoter',
}

/** Name of a function of the protocol; its selector if it is unknown. */
export function functionNameOf(selector: string): string {
  return FUNCTIONS[selector.toLowerCase()] ?? selector
}
