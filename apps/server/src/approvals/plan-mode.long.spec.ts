import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./plan-mode.spec.js'));
