import { longTestsOf } from './long.js';

longTestsOf(() => jest.requireActual('./processor-time.spec.js'));
