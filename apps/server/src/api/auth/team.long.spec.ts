import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./team.spec.js'));
