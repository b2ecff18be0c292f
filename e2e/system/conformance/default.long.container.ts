import { describeConformance } from './conformance-in.js';

describeConformance({
  title: 'the default image',
  image: 'BELAY_TEST_IMAGE',
  has: ['bash', 'less', 'vi', 'top', 'python3', 'git'],
});
