import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./foreign-things.attacks.spec.js'));
