import fc from 'fast-check'
import { expect, test } from 'vitest'
import { planShare, type SliceLease } from './slice-shares.ts'

const SLICES = 32
const memberId = (index: number) => `member ${String.fromCharCode(97 + index)}`

/** Members that are alive, and those that died. */
const world = fc.record({
  live: fc.uniqueArray(fc.nat(11), { minLength: 1, maxLength: 12 }),
  /** Owner of each slice: a member, a dead one, or none. */
  owners: fc.array(fc.option(fc.nat(15), { nil: null }), {
    minLength: SLICES,
    maxLength: SLICES,
  }),
  /** Order in which members act. */
  turns: fc.infiniteStream(fc.nat(11)),
})

/** Applies the members' plans in turn until every plan is empty. */
function settle(members: readonly string[], leases: SliceLease[], order: Iterator<number>): number {
  for (let turns = 1; turns < 500; turns += 1) {
    const me = members[(order.next().value ?? turns) % members.length] ?? ''
    const { giveUp, free, take } = planShare(me, new Set(members), leases)
    const taken = free.slice(0, take)
    for (const [index, lease] of leases.entries()) {
      if (giveUp.includes(lease.slice))
        leases[index] = { ...lease, owner: null, isOwnerLive: false }
      if (taken.includes(lease.slice))
        leases[index] = { ...lease, owner: me, isOwnerLive: true, number: lease.number + 1 }
    }
    const isQuiet = members.every((member) => {
      const {
        giveUp: spare,
        free: open,
        take: wanted,
      } = planShare(member, new Set(members), leases)
      return spare.length === 0 && Math.min(open.length, wanted) === 0
    })
    if (isQuiet) return turns
  }
  return Number.POSITIVE_INFINITY
}

test('from any distribution, members reach shares that differ by one at most and cover all slices', () => {
  fc.assert(
    fc.property(world, ({ live, owners, turns }) => {
      const members = live.map(memberId)
      const leases = owners.map((owner, slice) => ({
        slice,
        owner: owner === null ? null : memberId(owner),
        number: 1,
        isOwnerLive: owner !== null && live.includes(owner),
      }))
      expect(settle(members, leases, turns[Symbol.iterator]())).toBeLessThan(500)
      const counts = members.map((member) => leases.filter(({ owner }) => owner === member).length)
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(SLICES)
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1)
    }),
  )
})

test('a member keeps its slices while no member joins or leaves', () => {
  const members = ['a', 'b', 'c'].map((name) => `member ${name}`)
  const leases: SliceLease[] = Array.from({ length: SLICES }, (_, slice) => ({
    slice,
    owner: null,
    number: 0,
    isOwnerLive: false,
  }))
  settle(members, leases, [0, 1, 2][Symbol.iterator]() as Iterator<number>)
  for (const member of members) {
    expect(planShare(member, new Set(members), leases)).toMatchObject({ giveUp: [], take: 0 })
  }
})
