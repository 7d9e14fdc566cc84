/** The units that people type behind a number, in the words and signs of every language. Pure. */
import { simplified } from './simplified.ts'

/** What a typed unit measures. Symbols of assets are none of these. */
export type UnitKind = 'percent' | 'usd' | 'credits' | 'rounds' | keyof typeof UNIT_SECONDS

/** Lengths of the units of time, in seconds. */
export const UNIT_SECONDS = {
  seconds: 1,
  minutes: 60,
  hours: 3600,
  days: 86_400,
  weeks: 604_800,
} as const

const WORDS: Readonly<Record<UnitKind, string>> = {
  percent:
    '%|٪|％|percent|per cent|pct|prozent|pour cent|pourcent|শতাংশ|百分之|百分比|प्रतिशत|फीसदी|फ़ीसदी|بالمئة|بالمائة|في المئة|في المائة',
  usd: '$|us$|usd|us-dollar|dollar|dollars|us dollar|us dollars|dollar us|dollars us|ডলার|মার্কিন ডলার|美元|美金|डॉलर|अमेरिकी डॉलर|دولار|دولارا|دولارًا|دولارات|دولار أمريكي',
  credits:
    'credit|credits|crédit|crédits|ক্রেডিট|点|點|积分|क्रेडिट|وحدة|وحدات|وحدة رصيد|وحدات رصيد|وحدتا رصيد|رصيد',
  rounds: 'round|rounds|runde|runden|tour|tours|রাউন্ড|轮|輪|राउंड|चक्र|दौर|جولة|جولات',
  seconds:
    's|sec|secs|second|seconds|sek|sekunde|sekunden|seconde|secondes|সে|সেকেন্ড|秒|秒钟|से|सेकंड|सेकेंड|ثانية|ثوان|ثواني|ث',
  minutes: 'm|min|mins|minute|minutes|minuten|মিনিট|分|分钟|मि|मिनट|دقيقة|دقائق|د',
  hours: 'h|hr|hrs|hour|hours|std|stunde|stunden|heure|heures|ঘণ্টা|时|小时|घं|घंटा|घंटे|ساعة|ساعات|س',
  days: 'd|day|days|tag|tage|tagen|tg|j|jour|jours|দিন|天|日|दिन|يوم|يومًا|يوما|أيام|ايام|ي',
  weeks:
    'w|wk|week|weeks|woche|wochen|semaine|semaines|সপ্তাহ|周|星期|सप्ताह|हफ़्ता|हफ़्ते|أسبوع|أسابيع|اسبوع|اسابيع',
}

const KINDS: ReadonlyMap<string, UnitKind> = new Map(
  (Object.keys(WORDS) as UnitKind[]).flatMap((kind) =>
    WORDS[kind].split('|').map((word): [string, UnitKind] => [plainUnit(word), kind]),
  ),
)

/** What a unit measures; undefined for symbols of assets and unknown words. */
export function unitKindOf(unit: string): UnitKind | undefined {
  return KINDS.get(plainUnit(unit))
}

function plainUnit(unit: string): string {
  return simplified(unit).toLowerCase().replace(/\s+/g, ' ').replace(/[.॰]$/, '')
}
