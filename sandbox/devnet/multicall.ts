import {
  createPublicClient,
  custom,
  decodeDeployData,
  deploylessCallViaBytecodeBytecode,
  type Hex,
  parseAbi,
} from 'viem'

/** Where Multicall3 is on every chain that has it, Flare among them. */
export const MULTICALL3_ADDRESS = '0xcA11bde05977b3631167028862bE2a173976CA11'

const WRAPPER = parseAbi(['constructor(bytes code, bytes data)'])
const MULTICALL3 = parseAbi(['function getBlockNumber() view returns (uint256)'])

/**
 * Multicall3's creation code.
 *
 * viem carries it to make multicalls on chains without the contract, wrapped into a call that needs
 * no deployment. We let it make such a call to nobody and take the code out of the wrapping.
 */
export async function multicall3CreationCode(): Promise<Hex> {
  const sent: Hex[] = []
  const client = createPublicClient({
    transport: custom({
      request: async ({ params }: { params: readonly [{ readonly data: Hex }] }) => {
        sent.push(params[0].data)
        return '0x'
      },
    }),
  })
  await client.multicall({
    contracts: [{ address: MULTICALL3_ADDRESS, abi: MULTICALL3, functionName: 'getBlockNumber' }],
    deployless: true,
  })
  const [data] = sent
  if (data === undefined) throw new Error('viem made no deployless call')
  const { args } = decodeDeployData({
    abi: WRAPPER,
    bytecode: deploylessCallViaBytecodeBytecode,
    data,
  })
  return args[0]
}
