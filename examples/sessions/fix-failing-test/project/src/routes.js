/** Profiles are heights in metres at equal distances along the route. */
export const routes = [
  {
    name: 'Heron Lake',
    region: 'Lakeside',
    kilometres: 7.4,
    ascent: 180,
    grade: 'easy',
    profile: [640, 655, 690, 735, 780, 812, 798, 760, 742, 770, 745, 700, 660, 640],
  },
  {
    name: 'Old Quarry Loop',
    region: 'Foothills',
    kilometres: 6.3,
    ascent: 441,
    grade: 'moderate',
    profile: [520, 560, 640, 715, 790, 860, 905, 921, 880, 801, 730, 655, 580, 520],
  },
  {
    name: 'Signal Ridge',
    region: 'High country',
    kilometres: 13.4,
    ascent: 1043,
    grade: 'hard',
    profile: [890, 960, 1080, 1190, 1345, 1460, 1610, 1700, 1822, 1790, 1640, 1390, 1120, 890],
  },
];
