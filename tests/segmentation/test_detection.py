"""Languages of realistic product titles, written for this test."""

from __future__ import annotations

import pytest

from batag.pages.languages import LANGUAGES
from batag.segmentation.detection import possible_languages

TITLES = {
    "zh-Hant": [
        "【免運】韓國保濕化妝水 50ml",
        "無線藍牙耳機 5.3 降噪 TWS-900 黑色",
        "不鏽鋼保溫杯 500ml 真空斷熱",
        "SK-II 青春露 230ml 公司貨",
        "UNIQLO 女裝 HEATTECH 圓領T恤",
        "日本の匠 手工玻璃杯 2入組",
        "Apple iPhone 15 Pro Max 256GB 原廠保固",
        "實木餐桌椅組 一桌四椅 胡桃色",
        "兒童雨衣 110cm 黃色小鴨",
        "貓砂 豆腐砂 6L 低粉塵",
        "真皮樂福鞋 女鞋 24.5",
        "Nike Air Max 90 男鞋 休閒鞋 白",
        "床墊 獨立筒 5尺 雙人",
        "玫瑰金項鍊 925純銀 情人節禮物",
        "Hello Kitty 凱蒂貓 馬克杯 300ml",
    ],
    "zh-Hans": [
        "2024新款韩版宽松卫衣女ins潮",
        "华为手机壳 Mate60Pro 磨砂防摔",
        "连衣裙夏季碎花长裙 S M L XL",
        "小米充电宝20000mAh 22.5W快充",
        "儿童保温杯316不锈钢带吸管",
        "格力空调 大1匹 KFR-26GW 一级能效",
        "双肩包男15.6寸电脑包",
        "茶叶特级龙井250克罐装",
        "牛仔裤男直筒修身",
        "资生堂红色蜜露精华化妆液75mL",
        "猫粮10kg成猫幼猫通用型",
        "坚果礼盒1.5kg 每日坚果",
        "Nike 耐克男鞋运动鞋透气跑步鞋",
        "北欧简约实木餐桌椅组合",
        "蓝牙音箱 JBL 便携式 低音炮",
    ],
    "ja": [
        "100%コットン Tシャツ レディース",
        "【送料無料】ガーゼケット シングル 140×200cm",
        "スニーカー 24.5号 ホワイト",
        "ﾊﾝﾄﾞｸﾘｰﾑ 80g ｶﾞｰｾﾞ付き",
        "㍿山田製作所 ステンレス包丁 18cm",
        "新潟県産コシヒカリ 5kg",
        "資生堂 エリクシール 化粧水 しっとり 170ml",
        "母の日ギフト プリザーブドフラワー",
        "NIKE ナイキ エアマックス 90 メンズ スニーカー",
        "犬用おやつ ささみ 300g",
        "ゲーミングチェア オットマン付き ブラック",
        "コーヒー豆 200g 深煎り",
        "無印良品 綿であったかインナー 長袖",
        "SONY ワイヤレスヘッドホン WH-1000XM5",
        "桐箪笥 5段 幅90cm 国産 完成品",
    ],
    "en": [
        "Men's Running Shoes - Size 10.5 (Wide)",
        "Levi's 501 Original Fit Jeans, W32 L34",
        "27-inch 4K UHD Monitor, 144Hz, HDMI 2.1",
        "Stainless-steel water bottle, 750 ml",
        "L'Oréal Paris Crème Brûlée lip balm",
        "USB-C to USB-C cable 2m",
        "SHISEIDO 資生堂 Ultimune Power Infusing Concentrate Serum for Face",
        "Hello Kitty Mug 11oz Ceramic",
        "Non-slip yoga mat 6mm",
        "Matcha (抹茶) Green Tea Powder Ceremonial Grade 100g Organic",
        "Wooden dining table with four chairs",
        "Kids Raincoat Yellow Duck 4T",
        "A.P.C. x Carhartt WIP tee",
        "Nike Air Max 90 White",
        "Cotton Bedding Set King 4 pieces",
    ],
}


def test_at_least_95_of_100_product_titles_are_told_right() -> None:
    wrong = [
        (title, language, found)
        for language, titles in TITLES.items()
        for title in titles
        if (found := possible_languages(title)[0]) != language
    ]
    number = sum(map(len, TITLES.values()))
    assert number == 60
    assert len(wrong) <= 0.05 * number, wrong


@pytest.mark.parametrize("language", list(TITLES))
def test_the_titles_of_one_language_together_are_told_right(language: str) -> None:
    assert possible_languages("\n".join(TITLES[language]))[0] == language


@pytest.mark.parametrize("text", ["", " ", "123", "!!!", "😀", "₩1,000"])
def test_text_without_letters_may_be_in_any_language(text: str) -> None:
    first, *others = possible_languages(text)
    assert first == "en"
    assert {first, *others} == {*LANGUAGES}


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("T恤", "zh-Hant"),
        ("の", "ja"),
        ("ナイキ", "ja"),
        ("ﾅｲｷ", "ja"),
        ("外套", "zh-Hant"),
        ("卫衣", "zh-Hans"),
        ("衛衣", "zh-Hant"),
        ("NIKE", "en"),
        ("ＮＩＫＥ", "en"),
        ("日本の味 台灣製 抹茶餅乾禮盒 12入", "zh-Hant"),
        ("優の良品 北海道牛乳餅乾 綜合口味禮盒", "zh-Hant"),
        ("SONY ヘッドホン", "ja"),
        ("Nike 慢跑鞋", "zh-Hant"),
        ("Waterproof hiking boots for men and women の", "en"),
        ("Panasonic パナソニック 冷氣機 變頻冷暖 一級能效 原廠保固三年 含基本安裝", "zh-Hant"),
    ],
)
def test_short_and_mixed_text(text: str, language: str) -> None:
    assert possible_languages(text)[0] == language
