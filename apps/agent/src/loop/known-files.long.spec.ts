import { describeEditChains } from './testing/describe-edit-chains.js';

describeEditChains(Array.from({ length: 30 }, (_, seed) => seed));
