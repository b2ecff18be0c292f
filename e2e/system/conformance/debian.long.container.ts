import { describeConformance } from './conformance-in.js';

describeConformance({
  title: 'bare Debian',
  image: 'BELAY_TEST_DEBIAN',
  has: ['bash'],
});
