/** Six pages to try: two each in Traditional Chinese, Japanese and English, as shops write them. */

/** @typedef {{name: string, language: 'en' | 'zh-Hant' | 'ja', title: string, description: string}} Example */

/** @type {Example[]} */
export const EXAMPLES = [
  {
    name: '除濕機',
    language: 'zh-Hant',
    title: 'Panasonic 國際牌 16公升 變頻清淨除濕機 白色',
    description: '變頻控制，安靜又省電，一年四季都好用。\n國際牌除濕機大容量設計，梅雨季臥室、浴室都能保持乾爽。',
  },
  {
    name: '登山外套',
    language: 'zh-Hant',
    title: '【現貨】The North Face 北面 男款 防水連帽登山外套 黑色',
    description: '防水又透氣，下雨天爬山也不怕☔\n可調式連帽與袖口，輕量好收納。尺寸：S～XL',
  },
  {
    name: '炊飯器',
    language: 'ja',
    title: '象印 圧力IH炊飯器 5.5合炊き ブラック',
    description: '高火力で一気に炊き上げ、お米の甘みが際立ちます。\n内ぶたは食洗機で洗えるので、お手入れ簡単。ZOJIRUSHI公式ストア限定カラー🍚',
  },
  {
    name: 'トートバッグ',
    language: 'ja',
    title: '【送料無料】無印良品 撥水 トートバッグ Ａ４サイズ対応 ネイビー',
    description: '軽量で丈夫なポリエステル素材のトートバッグ。通勤にも通学にも使えます。\n内ポケット付き、ノートパソコンも収納可能。',
  },
  {
    name: 'Hiking boots',
    language: 'en',
    title: "Columbia Men's Waterproof Hiking Boots, Brown Leather",
    description: 'Lightweight and waterproof, with a cushioned insole for long days.\nThese hiking boots have a non-slip rubber sole for wet trails 🥾',
  },
  {
    name: 'Vacuum cleaner',
    language: 'en',
    title: 'Dyson Cordless Stick Vacuum Cleaner with HEPA Filter',
    description: 'Powerful cordless vacuum for hard floors and pet hair.\nLightweight, quiet, and easy to empty. Rechargeable battery and wall mount included.',
  },
];
