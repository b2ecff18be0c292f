import { longTestsOf } from './long.js';

longTestsOf(() => jest.requireActual('./long.spec.js'));
