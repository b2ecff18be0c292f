import { describeConformance } from './conformance-in.js';

describeConformance({
  title: 'busybox',
  image: 'BELAY_TEST_BUSYBOX',
  has: ['less', 'vi', 'top'],
});
