import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./new-session-page.spec'));
