import type { Address } from '#src/kernel/units.ts'

/**
 * Addresses of the contracts of Flare's systems, equal to those on Flare, except `oldSubmission` and `stakeMirror`.
 *
 * @see flare-foundation/flare-smart-contracts-v2, `deployment/deploys/flare.json`
 */
export const CONTRACTS = {
  flareSystemsManager: '0x89e50DC0380e597ecE79c8494bAAFD84537AD0D4',
  relay: '0x5A2Eb0cdB4Aa8253924a488A77EdfD24Bb64407f',
  oldRelay: '0xCcF30790A93F15e24EB909548a2C58a9b0a7FBd4',
  submission: '0x2cA6571Daa15ce734Bbd0Bf27D5C9D16787fc33f',
  /** An address without a counterpart on Flare, where Submission has not moved yet. */
  oldSubmission: '0x18b9306737eaf6E8FC8e737F488a1AE077b18053',
  voterRegistry: '0xA480457953Af3583E54DCd630b219353B8FC9Af7',
  oldVoterRegistry: '0x2580101692366e2f331e891180d9ffdF861Fce83',
  voterPreRegistry: '0x76D49E62B07e52A13b7FBB4602eD942f812c87e2',
  oldVoterPreRegistry: '0xeFDBf6F31Aa46c62414Aee82aF43036d16885b48',
  flareSystemsCalculator: '0xf9cCe0Bd286bb38A9A0cD15fDDC5431F03568Db0',
  oldFlareSystemsCalculator: '0x67c4B11c710D35a279A41cff5eb089Fe72748CF8',
  entityManager: '0x134b3311C6BdeD895556807a30C7f047D99DfdC2',
  fastUpdater: '0xdBF71d7840934EB82FA10173103D4e9fd4054dd1',
  fastUpdatesConfiguration: '0xD9B6fB7F49C13C1448d0DEF4E83aFECf8E8778C8',
  fastUpdateIncentiveManager: '0xd648e8ACA486Ce876D641A0F53ED1F2E9eF4885D',
  fdcHub: '0xc25c749DC27Efb1864Cb3DADa8845B7687eB2d44',
  rewardManager: '0xC8f55c5aA2C752eE285Bd872855C749f4ee6239B',
  validatorRewardManager: '0xc0CF3Aaf93bd978C5BC662564Aa73E331f2eC0B5',
  /** An address of local chains alone. */
  stakeMirror: '0x00000000000000000000000000000000000f1A05',
} as const satisfies Record<string, Address>

/** Contracts in the registry, by their names there. The `old…` contracts are not listed. */
export const REGISTRY_CONTRACTS = {
  FlareSystemsManager: CONTRACTS.flareSystemsManager,
  ProtocolsV2: CONTRACTS.flareSystemsManager,
  Relay: CONTRACTS.relay,
  RandomNumberV2: CONTRACTS.relay,
  Submission: CONTRACTS.submission,
  VoterRegistry: CONTRACTS.voterRegistry,
  VoterPreRegistry: CONTRACTS.voterPreRegistry,
  FlareSystemsCalculator: CONTRACTS.flareSystemsCalculator,
  EntityManager: CONTRACTS.entityManager,
  FastUpdater: CONTRACTS.fastUpdater,
  FastUpdatesConfiguration: CONTRACTS.fastUpdatesConfiguration,
  FastUpdateIncentiveManager: CONTRACTS.fastUpdateIncentiveManager,
  FdcHub: CONTRACTS.fdcHub,
  RewardManager: CONTRACTS.rewardManager,
  RewardsV2: CONTRACTS.rewardManager,
  ValidatorRewardManager: CONTRACTS.validatorRewardManager,
  PChainStakeMirror: CONTRACTS.stakeMirror,
} as const satisfies Record<string, Address>
