import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./trees.spec.js'));
