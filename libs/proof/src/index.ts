export { assertTraceMatches } from './assert-trace-matches.js';
export { canonicalDigest, canonicalJson } from './canonical-json.js';
export { DoesNotHold } from './does-not-hold.js';
export { fromEnvelope, inEnvelope } from './envelope.js';
export { FollowedLog } from './followed-log.js';
export { ObservedLog } from './observed-log.js';
export {
  chainAlgorithm,
  chainDigest,
  chainFields,
  chainStart,
  contentDigest,
} from './log-chain.js';
export { newSigningKey, signingKey, type SigningKey } from './signing-key.js';
export { logMatches } from './log-matches.js';
export { verifiedStatement } from './verified-statement.js';
