import { describeConformance } from './describe-conformance.js';

describeConformance({
  title: 'the default image',
  image: 'BELAY_TEST_IMAGE',
  has: ['bash', 'less', 'vi', 'top', 'python3', 'git'],
  cases: 'rest',
});
