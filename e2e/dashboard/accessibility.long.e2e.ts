import { describeAccessiblePages } from './accessible-pages.js';

describeAccessiblePages([
  ['dark', 1440, 900],
  ['light', 390, 844],
]);
