import {
  createPublicClient,
  custom,
  decodeDeployData,
  deploylessCallViaBytecodeBytecode,
  type Hex,
  parseAbi,
} from 'viem'

/** Address of Multicall3 on Flare and most chains. */
export const MULTICALL3_ADDRESS = '0xcA11bde05977b3631167028862bE2a173976CA11'

const WRAPPER = parseAbi(['constructor(bytes code, bytes data)'])
const MULTICALL3 = parseAbi(['function getBlockNumber() view returns (uint256)'])

/**
 * Creation code of Multicall3.
 *
 * viem contains it for multicalls on chains without the contract, wrapped into a call that needs no
 * deployment; the code is extracted from such a call.
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
