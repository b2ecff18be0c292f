import { describeConformance } from './describe-conformance.js';

describeConformance({
  title: 'busybox',
  image: 'BELAY_TEST_BUSYBOX',
  has: ['less', 'vi', 'top'],
  cases: 'all',
});
