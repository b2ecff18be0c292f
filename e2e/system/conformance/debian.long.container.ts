import { describeConformance } from './describe-conformance.js';

describeConformance({
  title: 'bare Debian',
  image: 'BELAY_TEST_DEBIAN',
  has: ['bash'],
  cases: 'environment',
});
