import { expect, test } from 'vitest'
import { clientNetworkOf } from './client-network.ts'

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::', '2001:db8:1:2::/64'],
  ['2001:0db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['fe80::1%br-lan.100', 'fe80:0:0:0::/64'],
  ['::ffff:c000:201', '192.0.2.1'],
  ['unknown', 'unknown'],
])('the address %s belongs to the client network %s', (address, network) => {
  expect(clientNetworkOf(address)).toBe(network)
})
