import { describe, expect, test } from 'vitest'
import { checkUserUrl } from './safe-fetch.ts'

describe('checkUserUrl', () => {
  test.each([
    'https://example.org/hook',
    'https://example.org:443/',
    'https://EXAMPLE.org.:8443/a?b=c#d',
    'https://1.1.1.1/hook',
    'https://[2606:4700:4700::1111]:8443/hook',
    'https://bücher.example/hook',
    `https://${'a'.repeat(63)}.example.org/hook`,
  ])('takes %s', (url) => expect(checkUserUrl(url, false)).toBeUndefined())

  test.each([
    `https://${'a'.repeat(64)}.example.org/`,
    `https://${'ü'.repeat(63)}.example.org/`,
    `https://${'a.'.repeat(126)}org/`,
    'https://example..org/',
    'http://example.org/hook',
    'ftp://example.org/',
    'javascript:alert(1)',
    'https://',
    'example.org/hook',
    '',
    'https://example.org:80/',
    'https://example.org:22/',
    'https://example.org:65536/',
    'https://user:pass@example.org/',
    'https://user@example.org/',
    'https://localhost/',
    'https://LOCALHOST:8443/',
    'https://foo.localhost/',
    'https://intranet/',
    'https://db.internal/',
    'https://printer.local./',
    'https://127.0.0.1/',
    'https://127.1/',
    'https://2130706433/',
    'https://0x7f000001/',
    'https://0x7f.0.0.1/',
    'https://0177.0.0.1/',
    'https://127.0.0.1./',
    'https://１２７.0.0.1/',
    'https://10.0.0.8/',
    'https://169.254.169.254/latest/meta-data/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[fd00::1]/',
  ])('refuses %s', (url) => expect(checkUserUrl(url, false)).toBe('url'))

  test('takes http, any port and private hosts where these are allowed, but no credentials', () => {
    expect(checkUserUrl('http://127.0.0.1:4000/hook', true)).toBeUndefined()
    expect(checkUserUrl('https://localhost/', true)).toBeUndefined()
    expect(checkUserUrl('http://user@127.0.0.1/', true)).toBe('url')
    expect(checkUserUrl('ftp://127.0.0.1/', true)).toBe('url')
  })
})
