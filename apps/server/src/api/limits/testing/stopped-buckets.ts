import type * as buckets from '../token-bucket.js';
import type { RequestRate } from '../token-bucket.js';

/**
 * The bucket with a clock that stands still, unless it is given one: nothing is added while requests are counted, however
 * slow the machine is. A spec mocks `token-bucket.js` by what this makes of the actual one.
 */
export function stoppedBuckets({ TokenBucket }: typeof buckets): typeof buckets {
  class StoppedTokenBucket extends TokenBucket {
    constructor(rate: RequestRate, now: () => number = () => 0) {
      super(rate, now);
    }
  }
  return { TokenBucket: StoppedTokenBucket };
}
