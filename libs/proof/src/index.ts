export {
  chainAlgorithm,
  chainDigest,
  chainFields,
  chainStart,
  contentDigest,
} from './log-chain.js';
