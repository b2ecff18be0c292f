import { describeAccessiblePages } from './accessible-pages.js';

describeAccessiblePages({
  looks: [
    ['light', 1440, 900],
    ['light', 390, 844],
    ['dark', 1440, 900],
    ['dark', 390, 844],
  ],
});
