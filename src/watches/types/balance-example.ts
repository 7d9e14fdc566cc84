import { shortAddress } from '#src/i18n/format.ts'

/** Data of an example alert about a balance. */
export const BALANCE_EXAMPLE = {
  address: '0x3f12B8ac9D2e7f4B6a1C5D8E0F9A7B3c2d1ea91C',
  asset: 'FLR',
  symbol: 'FLR',
  decimals: 18,
  previousAmount: '12742500000000000000000',
  currentAmount: '242500000000000000000',
  changeAmount: '-12500000000000000000000',
  threshold: '100',
  direction: 'outgoing',
  counterparty: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  transactionHash: '0x9f1c2d3e4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0',
  transactions: [
    {
      transactionHash: '0x9f1c2d3e4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0',
      amount: '-12500000000000000000000',
      counterparty: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    },
  ],
  transactionCount: 1,
  usd: '267.50',
  blockNumber: 41880123,
  blockTime: '2026-11-20T21:04:31.000Z',
}

/** Symbol and decimals to show until the asset is first observed. */
export function unobservedAsset({ asset }: { readonly asset: string }) {
  return { symbol: asset === 'FLR' ? asset : shortAddress(asset), decimals: 18 }
}
