/** Wallet apps that contain a browser, which gives pages access to the wallet. */
const APPS: readonly { readonly name: string; link(url: URL): string }[] = [
  {
    name: 'MetaMask',
    link: ({ host, pathname, search }) =>
      `https://metamask.app.link/dapp/${host}${pathname}${search}`,
  },
  {
    name: 'Trust Wallet',
    link: ({ href }) =>
      `https://link.trustwallet.com/open_url?coin_id=60&url=${encodeURIComponent(href)}`,
  },
]

/** Links that open a page in a wallet app on the same phone. */
export function walletApps(address: string): readonly { name: string; href: string }[] {
  const url = new URL(address)
  return APPS.map(({ name, link }) => ({ name, href: link(url) }))
}
