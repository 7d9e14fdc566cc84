import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { every } from '../../../test/support/every.ts'
import { isPublicAddress } from './public-address.ts'

const PUBLIC = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.0',
  '192.0.3.0',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2606:4700:4700::1111',
  '2001:4860:4860::8888',
  '2a00:1450:4001:82a::200e',
  '2001:200::1',
  '2003::1',
  '2400:cb00::1',
]

const CLOSED: Readonly<Record<string, readonly string[]>> = {
  private: ['10.0.0.0', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.0.1'],
  loopback: ['127.0.0.1', '127.255.255.254', '::1'],
  'link-local': ['169.254.169.254', '169.254.0.1', 'fe80::1', 'febf::1', 'fe80::1%eth0'],
  'carrier-grade NAT': ['100.64.0.0', '100.127.255.255'],
  multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1', 'ff0e::1'],
  unspecified: ['0.0.0.0', '0.1.2.3', '::'],
  'broadcast and reserved': ['255.255.255.255', '240.0.0.1'],
  documentation: ['192.0.2.1', '198.51.100.7', '203.0.113.9', '2001:db8::1', '3fff::1'],
  benchmarking: ['198.18.0.1', '198.19.255.255', '2001:2::1'],
  'protocol assignments': ['192.0.0.1', '192.0.0.170', '2001:1::1', '2001:20::1'],
  'v4-mapped': ['::ffff:127.0.0.1', '::ffff:8.8.8.8', '::ffff:7f00:1', '0:0:0:0:0:ffff:a00:1'],
  'v4-compatible': ['::127.0.0.1', '::8.8.8.8'],
  NAT64: ['64:ff9b::8.8.8.8', '64:ff9b::7f00:1', '64:ff9b:1::a00:1'],
  '6to4': ['2002:7f00:1::', '2002:0808:0808::1'],
  '6to4 relay': ['192.88.99.1'],
  Teredo: ['2001:0:4136:e378:8000:63bf:3fff:fdd2', '2001::1'],
  'unique local': ['fc00::1', 'fd12:3456:789a::1'],
  'site-local and discard': ['fec0::1', '100::1'],
  'segment routing': ['5f00::1'],
  'not canonical': [
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '127.1',
    '0x7f.0.0.1',
    '8.8.8.8.',
    '08.8.8.8',
    ' 8.8.8.8',
    '8.8.8.8:443',
    '[2606:4700::1]',
    '2606:4700::1%1',
    '2606:4700::1/64',
    '',
    'localhost',
    'example.org',
    '１.１.１.１',
    '8.8.8',
    '256.1.1.1',
  ],
}

describe('isPublicAddress', () => {
  test('accepts public addresses', () =>
    every(PUBLIC, (ip) => expect(isPublicAddress(ip)).toBe(true)))

  for (const [kind, addresses] of Object.entries(CLOSED)) {
    test(`refuses ${kind}`, () => every(addresses, (ip) => expect(isPublicAddress(ip)).toBe(false)))
  }

  test('refuses every IPv4 address written inside an IPv6 one', () => {
    const prefixes = ['::ffff:', '64:ff9b::', '::']
    fc.assert(
      fc.property(fc.ipV4(), fc.constantFrom(...prefixes), (ip, prefix) => {
        expect(isPublicAddress(prefix + ip)).toBe(false)
      }),
    )
  })

  test('gives the same answer for every spelling of an IPv6 address', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(0xffff), { minLength: 8, maxLength: 8 }), (groups) => {
        const short = groups.map((group) => group.toString(16)).join(':')
        const long = groups.map((group) => group.toString(16).padStart(4, '0')).join(':')
        expect(isPublicAddress(short)).toBe(isPublicAddress(long.toUpperCase()))
      }),
    )
  })
})
