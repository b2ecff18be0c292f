import { describeShellConformance } from '../testing/describe-shell-conformance.js';
import { conformanceCases } from './cases.js';

describeShellConformance(
  'bash',
  conformanceCases.filter(({ isLong }) => isLong),
);
describeShellConformance('sh', conformanceCases);
