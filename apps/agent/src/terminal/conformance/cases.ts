import { dataCases } from './data-cases.js';
import { endingCases } from './ending-cases.js';
import { sourceCases } from './source-cases.js';
import { environmentCases } from './environment-cases.js';
import type { ConformanceCase } from './target.js';

/** What running commands means: each case needs a target of its own, whose workspace is empty. */
export const conformanceCases: ConformanceCase[] = [
  ...sourceCases,
  ...dataCases,
  ...endingCases,
  ...environmentCases,
];
