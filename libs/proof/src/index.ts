export { DoesNotHold } from './does-not-hold.js';
export { FollowedLog } from './followed-log.js';
export {
  chainAlgorithm,
  chainDigest,
  chainFields,
  chainStart,
  contentDigest,
} from './log-chain.js';
