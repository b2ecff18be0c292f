import { describeRepetitions } from './describe-repetitions.ts';
import { targets } from './targets.ts';

const { scripts } = targets;
if (scripts) describeRepetitions('scripts', scripts, scripts.seeds);
