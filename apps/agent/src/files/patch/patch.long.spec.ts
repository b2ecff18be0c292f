import { describeRandomDiffs } from './testing/describe-random-diffs.js';

describeRandomDiffs(25);
