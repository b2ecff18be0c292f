import { describeGrowingLogs } from './testing/describe-growing-log.js';

describeGrowingLogs(Array.from({ length: 40 }, (_, index) => index + 1));
