import { describeShellConformance } from '../testing/describe-shell-conformance.js';

describeShellConformance('sh');
